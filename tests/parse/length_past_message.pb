

	name

a*