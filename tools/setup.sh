# Shared by tools/quickstart and tools/check: packages, configuration and build. Sourced by bash, with `set -eu`, from the
# repository root.

BUILD=${TENON_BUILD:-build}

say() { printf '\n== %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else die "the packages of tools/packages.txt are missing: run this as root, or install sudo"
  fi
}

missing_packages() {
  local package
  grep -v '^ *\(#\|$\)' tools/packages.txt | while read -r package; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || echo "$package"
  done
}

# Debian's own archives hold every package in the version the build was made for, LLVM 22 among the security updates of Debian 12.
install_packages() {
  command -v dpkg-query >/dev/null ||
    die "this is not a Debian system: install what tools/packages.txt names by hand, then run cmake (CONTRIBUTING.md)"
  local missing; missing=$(missing_packages | tr '\n' ' ')
  if [ -z "$missing" ]; then say "Packages: all of tools/packages.txt are installed"; return; fi
  say "Packages: installing $missing"
  as_root apt-get update -q
  # shellcheck disable=SC2086
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing ||
    die "apt-get could not install them; this needs Debian 12 (bookworm) with its security archive among the sources"
}

# A translation unit that includes MLIR takes up to 1.2 GB: as many jobs as fit into the cores and into the free memory.
build_jobs() {
  local cores free
  cores=$(nproc)
  free=$(awk '/MemAvailable/ { print int($2 / 1300000) }' /proc/meminfo)
  [ "$free" -lt 1 ] && free=1
  echo $((cores < free ? cores : free))
}

configure_and_build() { # targets; none: everything
  say "Build: $BUILD with $(build_jobs) jobs"
  if [ ! -f "$BUILD/build.ninja" ]; then
    cmake --preset release -B "$BUILD" >"$BUILD.log" 2>&1 || { cat "$BUILD.log" >&2; die "cmake failed"; }
    rm -f "$BUILD.log"
  fi
  ninja -C "$BUILD" -j "$(build_jobs)" "$@" ||
    die "the build failed; run the same command again after mending what the message above names"
}
