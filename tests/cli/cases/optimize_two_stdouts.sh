regal optimize graphs/diamond.pbtxt -o - --json
