mkdir set
touch set/letter.txt
regal generate set --count 1
