# Installs the library, builds the examples against the installed package, and runs them.
#   cmake -DBUILD=<build folder> -DSOURCE=<repository> -DCOMPILER=<C++ compiler> -P installed_package.cmake
set(work ${BUILD}/installed_package)
file(REMOVE_RECURSE ${work})
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/examples -B ${work}/examples -DCMAKE_PREFIX_PATH=${work}/prefix
    -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS}")
run(${CMAKE_COMMAND} --build ${work}/examples)
run(${work}/examples/train_and_predict ${work}/model.safetensors)
run(${work}/prefix/bin/pgexplainer info ${work}/model.safetensors)
run(${work}/examples/explain_nodes ${work}/explainer.safetensors)
run(${work}/prefix/bin/pgexplainer info ${work}/explainer.safetensors)

# The service: built on its own, and asked about two nodes.
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/examples/embed_in_service -B ${work}/service -DCMAKE_PREFIX_PATH=${work}/prefix
    -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS}")
run(${CMAKE_COMMAND} --build ${work}/service)
set(tool ${work}/prefix/bin/pgexplainer)
run(${tool} generate tree-cycles --tree-levels 5 --num-motifs 10 -o ${work}/data.npz)
run(${tool} train --data ${work}/data.npz --epochs 200 -o ${work}/gnn.safetensors)
run(${tool} fit --data ${work}/data.npz --model ${work}/gnn.safetensors --epochs 5 --necessity 0.1 -o ${work}/pg.safetensors)
file(WRITE ${work}/questions.txt "40\n45\n")
execute_process(COMMAND ${work}/service/embed_in_service ${work}/data.npz ${work}/gnn.safetensors ${work}/pg.safetensors
                INPUT_FILE ${work}/questions.txt OUTPUT_VARIABLE answers COMMAND_ERROR_IS_FATAL ANY)
message("${answers}")
if(NOT answers MATCHES "\"edges\":.*\"node\":40.*\n.*\"node\":45")
  message(FATAL_ERROR "the service did not answer both questions")
endif()
