# What a client has of a call.
export WHICHTOOL_MANIFESTS=$PWD/none
echo "convert 20 euros to yen" >request.txt
call_id=call_1 tool_use_id=toolu_1
