cp graphs/diamond.order a.order
cp graphs/diamond.order b.order
regal report graphs/diamond.pbtxt a.order b.order -o b.order
