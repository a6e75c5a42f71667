# Options that are not the default are written as a file, which reads back.
regal optimize --devices 3 --latency 5us --bandwidth 25GB --pin 'a=0' --json \
  --dump-config | tee my.config
regal optimize --config my.config --dump-config | diff my.config - && echo same
# The command line wins; what another command takes is passed over.
echo 'copies = 3' >> my.config
regal optimize graphs/diamond.pbtxt --config my.config --latency 7us --threads 1 \
  --method single -q | grep -E '"(latency_ns|devices)"'
regal evaluate --config my.config --dump-config
# What is wrong is told with its line.
printf '# comment\n\ndevices = 2\ndevcies = 3\n' > wrong.config
regal optimize graphs/diamond.pbtxt --config wrong.config
printf 'devices = many\n' > wrong.config
regal optimize graphs/diamond.pbtxt --config wrong.config
printf 'devices 3\n' > wrong.config
regal optimize graphs/diamond.pbtxt --config wrong.config
printf '\ndevcies = 3\n' | regal optimize graphs/diamond.pbtxt --config -
printf 'config = wrong.config\n' > wrong.config
regal optimize graphs/diamond.pbtxt --config wrong.config
regal optimize graphs/diamond.pbtxt --config /dev/zero 2>&1 | head -c 60
echo
regal optimize graphs/diamond.pbtxt --config nowhere
