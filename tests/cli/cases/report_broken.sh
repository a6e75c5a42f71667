echo '{"regal_plan": 1, "steps": []}' > empty.plan
regal report graphs/diamond.pbtxt graphs/diamond.order empty.plan -q -o page.html
code=$?
test -e page.html && echo written
exit $code
