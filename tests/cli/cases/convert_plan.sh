# The plan's order in a model; pictures; what does not go.
read=(--dim batch=2,seq=4 -q)
regal optimize samples/onnx/transformer.onnx "${read[@]}" --evaluations 100 --threads 1 -o a.plan > /dev/null
regal convert samples/onnx/transformer.onnx "${read[@]}" --plan a.plan -o b.onnx
for model in samples/onnx/transformer.onnx b.onnx; do
  regal inspect $model --dim batch=2,seq=4 | grep -v checksum | sort > ${model##*/}.txt
done
diff transformer.onnx.txt b.onnx.txt && echo the same graph
test $(grep -aoc regal.step b.onnx) -gt 0 && echo with steps
regal convert graphs/diamond.pbtxt --plan graphs/diamond.order -o c.dot && cat c.dot
regal convert graphs/diamond.pbtxt --plan graphs/diamond.order -o c.svg && python3 -c '
import xml.dom.minidom
print(len(xml.dom.minidom.parse("c.svg").getElementsByTagName("g")), "ops")'
regal convert graphs/diamond.pbtxt --plan graphs/diamond.order -o c.onnx
regal convert graphs/diamond.pbtxt --plan graphs/diamond.order -o c.json
regal convert - --plan graphs/diamond.order -o c.onnx < samples/onnx/transformer.onnx
ls c.onnx c.json 2> /dev/null
