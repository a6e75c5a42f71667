# What is beside the graphs goes along; what is beside the index stays a file.
mkdir in && cp graphs/diamond.* graphs/three.pbtxt in
echo notes > in/NOTES
regal dataset pack in -o out.zip
regal evaluate out.zip:diamond out.zip:diamond.order | head -1
regal dataset pack out.zip -o out -q && ls out
