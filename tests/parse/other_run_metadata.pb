


/job:localhost	

a*
	
xRelu