echo '{"regal_machine": 1}' > machine.json
regal optimize graphs/diamond.pbtxt --method tuned --settings machine.json
