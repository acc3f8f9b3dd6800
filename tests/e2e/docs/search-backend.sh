# The ids and the request that a client has when it calls the search tool.
export WHICHTOOL_MANIFESTS=$PWD/none
echo "convert 20 euros to yen" >request.txt
call_id=call_1 tool_use_id=toolu_1
