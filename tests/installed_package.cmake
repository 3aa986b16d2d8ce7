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
