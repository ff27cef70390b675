#!/bin/sh
# A hook: it reads what is about to be called and answers with nothing (go on) or a refusal. This one keeps files whose
# name begins with a dot out of reach of the file tools.
call=$(cat)
case $call in
  *'"path":".'* | *'"path": ".'*) echo '{"refuse": "files with a dot in front are left alone"}' ;;
esac
