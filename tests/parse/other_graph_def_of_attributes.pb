

xRelu*
dtype0