# docs/options.md is what the table says. To write it anew:
#   build/regal options > docs/options.md
regal options | diff docs/options.md - && echo same
