# What is built when its libraries are there, each with an option that says otherwise: several processes (MPI), the
# Python package (pybind11), TorchScript modules (libtorch).
find_package(MPI QUIET COMPONENTS CXX)
option(PGEXPLAINER_WITH_MPI "Let several processes share the work (mpirun)" ${MPI_CXX_FOUND})
if(NOT PGEXPLAINER_WITH_MPI)
  message(STATUS "No MPI: fit and explain run on one machine (libopenmpi-dev, -DPGEXPLAINER_WITH_MPI=ON)")
endif()

# Of several Pythons the system's, for which Debian's NumPy and pybind11 are made.
if(NOT Python_EXECUTABLE AND EXISTS /usr/bin/python3)
  set(Python_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "The Python that the package is built for")
endif()
find_package(Python 3.9 QUIET COMPONENTS Interpreter Development.Module NumPy)
if(Python_FOUND)
  find_package(pybind11 2.9 QUIET CONFIG)
endif()
option(PGEXPLAINER_PYTHON "Build the Python package" ${pybind11_FOUND})
if(PGEXPLAINER_PYTHON AND NOT pybind11_FOUND)
  message(FATAL_ERROR "PGEXPLAINER_PYTHON needs pybind11-dev, python3-dev and python3-numpy")
elseif(NOT PGEXPLAINER_PYTHON)
  message(STATUS "No Python package (pybind11-dev, python3-dev, python3-numpy, -DPGEXPLAINER_PYTHON=ON)")
endif()

# By hand: the package's own CMake files also ask for libraries that only libtorch itself needs. With GCC: clang does
# not take the headers of libtorch 1.13 for C++20.
find_path(TORCH_INCLUDE_DIR torch/script.h)
find_library(TORCH_LIBRARY torch)
find_library(TORCH_CPU_LIBRARY torch_cpu)
find_library(TORCH_C10_LIBRARY c10)
set(TORCH_LIBRARIES ${TORCH_LIBRARY} ${TORCH_CPU_LIBRARY} ${TORCH_C10_LIBRARY})
set(torch_usable OFF)
if(TORCH_INCLUDE_DIR AND TORCH_LIBRARY AND TORCH_CPU_LIBRARY AND TORCH_C10_LIBRARY AND
   CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(torch_usable ON)
endif()
option(PGEXPLAINER_WITH_TORCH "Explain TorchScript modules (libtorch)" ${torch_usable})
if(PGEXPLAINER_WITH_TORCH AND NOT torch_usable)
  message(FATAL_ERROR "PGEXPLAINER_WITH_TORCH needs libtorch (libtorch-dev, or CMAKE_PREFIX_PATH) and GCC")
elseif(NOT PGEXPLAINER_WITH_TORCH)
  message(STATUS "No libtorch: TorchScript modules are not explained (libtorch-dev, -DPGEXPLAINER_WITH_TORCH=ON)")
endif()
