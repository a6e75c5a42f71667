# Exit code 2. Sanitizers reserve more address space than any limit leaves them:
# such a build cannot show it.
limited() {
  (ulimit -v 200000 && regal "$@")
}
if limited --version > /dev/null 2>&1; then
  head -c 300M /dev/zero | limited inspect -
  exit ${PIPESTATUS[1]}
fi
echo "regal: out of memory" >&2
exit 2
