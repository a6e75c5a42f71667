regal optimize graphs/diamond.pbtxt --json=yes
