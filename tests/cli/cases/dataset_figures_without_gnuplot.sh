# The data are there all the same.
mkdir bin && ln -s "$(command -v regal)" bin/regal
PATH=bin regal dataset describe data/xla.zip --figures figures > table
code=$?
ls figures
exit $code
