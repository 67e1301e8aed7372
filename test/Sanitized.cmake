# The fuzzers run in the ordinary tests under ASan and UBSan, two programs under TSan, all of clang whatever compiler builds the
# rest (g++ takes half as long again). Their objects are therefore compiled by rules of their own.
find_program(TENON_SANITIZING_CLANG NAMES clang++-22 clang++ REQUIRED)
# The checks left out cost a quarter of the compile time; what they see, ASan sees when it is used. vptr needs the RTTI of
# unsanitized libraries.
set(TENON_UNDER_ADDRESS -fsanitize=address,undefined -fno-sanitize=null,alignment,object-size,vptr
  -fno-sanitize-recover=undefined)
set(TENON_UNDER_THREAD -fsanitize=thread)
set(TENON_SANITIZED -std=c++20 -O1 -g1 -ffp-contract=off -D_GLIBCXX_ASSERTIONS -I${PROJECT_SOURCE_DIR} -I${PROJECT_BINARY_DIR}
  -I${PROJECT_SOURCE_DIR}/runtime/include -w) # warnings are those of the ordinary build

# Headers, read once for many objects of the same flags (ADDRESS or THREAD); `result`: the flag that names them.
function(tenon_sanitized_headers result name checks flags needs) # headers, with their paths
  set(text)
  foreach(header IN LISTS ARGN)
    string(APPEND text "#include <${header}>\n")
  endforeach()
  set(headers ${CMAKE_CURRENT_BINARY_DIR}/${name}.h)
  file(CONFIGURE OUTPUT ${headers} CONTENT "${text}")
  add_custom_command(OUTPUT ${headers}.pch
    COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${TENON_SANITIZING_CLANG} ${TENON_SANITIZED} ${TENON_UNDER_${checks}} ${flags}
    -Xclang -fno-pch-timestamp -MD -MF ${headers}.d -x c++-header ${headers} -o ${headers}.pch
    DEPENDS ${headers} ${needs} DEPFILE ${headers}.d VERBATIM COMMENT "Sanitized headers ${name}")
  set(${result} ${headers}.pch PARENT_SCOPE)
endfunction()

# One object per source, shared by the programs. `flags` and `headers` (of tenon_sanitized_headers, or "") are the same wherever a
# source is named.
function(tenon_sanitized_objects result checks flags headers) # sources, from the repository's root
  set(objects)
  set(read)
  if(headers)
    set(read -include-pch ${headers} -Xclang -fno-pch-timestamp)
  endif()
  string(TOLOWER ${checks} folder)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${folder})
  file(MAKE_DIRECTORY ${folder})
  foreach(source IN LISTS ARGN)
    string(REPLACE "/" "-" object ${source})
    set(object ${folder}/${object}.o)
    list(APPEND objects ${object})
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${TENON_SANITIZING_CLANG} ${TENON_SANITIZED} ${TENON_UNDER_${checks}} ${flags}
      ${read} -MD -MF ${object}.d -c ${PROJECT_SOURCE_DIR}/${source} -o ${object}
      DEPENDS ${PROJECT_SOURCE_DIR}/${source} ${headers} DEPFILE ${object}.d VERBATIM COMMENT "Sanitized ${source}")
  endforeach()
  set(${result} ${objects} PARENT_SCOPE)
endfunction()

# A program of objects and archives, one of the tools of the tests.
function(tenon_add_sanitized name checks libraries) # objects and archives
  set(executable ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name})
  add_custom_command(OUTPUT ${executable}
    COMMAND ${TENON_SANITIZING_CLANG} ${TENON_UNDER_${checks}} ${ARGN} ${libraries} -o ${executable}
    DEPENDS ${ARGN} VERBATIM COMMENT "Linking ${name}")
  add_custom_target(${name} ALL DEPENDS ${executable})
  set_property(GLOBAL APPEND PROPERTY TENON_TEST_TOOLS ${name})
endfunction()

# The sources of targets, from the repository's root.
function(tenon_sources_of result) # targets
  set(all)
  foreach(target IN LISTS ARGN)
    get_target_property(sources ${target} SOURCES)
    get_target_property(folder ${target} SOURCE_DIR)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    list(TRANSFORM sources PREPEND ${folder}/)
    list(APPEND all ${sources})
  endforeach()
  list(FILTER all EXCLUDE REGEX "\\.(hxx|pch|h)$")
  set(${result} ${all} PARENT_SCOPE)
endfunction()
