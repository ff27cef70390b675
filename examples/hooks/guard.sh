#!/bin/sh
# A hook: it reads what is about to be called and answers with nothing (go on) or a refusal. This one keeps paths that
# begin with a dot (`.env`, `../x`) out of reach of the file tools. A hub asks it when its configuration says so:
#   hooks: { guard: { before: dispatch, command: [./examples/hooks/guard.sh], skills: ["local/*"] } }
call=$(cat)
case $call in
  *'"path":".'[!\"/]* | *'"path": ".'[!\"/]*) echo '{"refuse": "files with a dot in front are left alone"}' ;;
esac
