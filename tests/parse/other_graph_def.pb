
	
xRelu

yRelux