//! [`Kernel`], the choice of an instruction set, and [`Work`], which runs on its vectors.

use fearless_simd::{Level, Simd};
use std::{error::Error, fmt, str::FromStr};

/// Instruction set of inner loops: one that this CPU has, or plain Rust.
#[derive(Clone, Copy)]
pub struct Kernel(Machine);

/// Kernel with the token by which `fearless_simd` proves that this CPU has the instruction set.
#[derive(Clone, Copy)]
enum Machine {
    Scalar,
    Portable,
    #[cfg(target_arch = "x86_64")]
    Sse2(fearless_simd::x86::Sse2),
    #[cfg(target_arch = "x86_64")]
    Avx2(fearless_simd::x86::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(fearless_simd::x86::Avx512),
    #[cfg(target_arch = "aarch64")]
    Neon(fearless_simd::aarch64::Neon),
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Simd128(fearless_simd::wasm32::WasmSimd128),
}

/// Runs `work` on plain arrays.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
fn run_portable(work: impl Work) {
    work.run_portable(fearless_simd::Fallback::new());
}

/// Runs `work` on the vectors of WebAssembly. A second copy of all loops, on arrays, would be a fifth of the module's code.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
fn run_portable(work: impl Work) {
    work.run(Level::new().as_wasm_simd128().expect("the build has this feature"));
}

/// Computation that is generic over the type of vectors.
pub trait Work: Sized {
    /// Computes with the vectors of `simd`.
    fn run<S: Simd>(self, simd: S);

    /// Computes with `simd`, whose vectors are plain arrays. By default, calls [`Work::run`]. The compiled code is several times as
    /// long as that for vectors, so large work may have a shorter variant here.
    fn run_portable<S: Simd>(self, simd: S) {
        self.run(simd);
    }
}

/// [`Work`] of plain loops, which the compiler vectorises.
struct Loops<F>(F);

impl<F: FnOnce()> Work for Loops<F> {
    fn run<S: Simd>(self, simd: S) {
        simd.vectorize(self.0);
    }
}

/// Error: unknown kernel, or one that this CPU cannot run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKernel {
    name: String,
}

impl fmt::Display for UnknownKernel {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let names: Vec<_> = Kernel::available().map(Kernel::name).collect();
        write!(f, "this CPU has no kernel '{}'; use one of {}", self.name, names.join(", "))
    }
}

impl Error for UnknownKernel {}

impl Default for Kernel {
    /// Returns [`Kernel::best`].
    fn default() -> Self {
        Self::best()
    }
}

impl Kernel {
    /// Name of the environment variable that selects a kernel, for programs that let users choose.
    pub const VARIABLE: &str = "TONE_FILTER_KERNEL";

    /// Names of all kernels on all CPUs, the simplest first.
    pub const NAMES: [&str; 7] =
        ["scalar", "portable", "simd128", "sse2", "neon", "avx2", "avx512"];

    /// Returns the kernels that this CPU can run, in the order of [`Kernel::NAMES`].
    pub fn available() -> impl Iterator<Item = Self> {
        Self::NAMES.iter().filter_map(|name| Self::find(name))
    }

    /// Returns the fastest kernel that this CPU can run.
    pub fn best() -> Self {
        Self::available().last().unwrap_or(Self(Machine::Portable))
    }

    /// Returns the kernel that the environment variable [`Kernel::VARIABLE`] names, or the fastest one if it is not set.
    ///
    /// # Errors
    /// If the variable does not name a kernel of this CPU.
    pub fn from_environment() -> Result<Self, UnknownKernel> {
        std::env::var_os(Self::VARIABLE)
            .map_or_else(|| Ok(Self::best()), |name| name.to_string_lossy().parse())
    }

    /// Returns the kernel's name, one of [`Kernel::NAMES`].
    pub const fn name(self) -> &'static str {
        match self.0 {
            Machine::Scalar => "scalar",
            Machine::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Machine::Sse2(_) => "sse2",
            #[cfg(target_arch = "x86_64")]
            Machine::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Machine::Avx512(_) => "avx512",
            #[cfg(target_arch = "aarch64")]
            Machine::Neon(_) => "neon",
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Machine::Simd128(_) => "simd128",
        }
    }

    /// Returns whether inner loops run in plain Rust, one value at a time. These loops define the result. Always `false` in a
    /// WebAssembly module with vectors, which is smaller without such loops.
    pub const fn is_scalar(self) -> bool {
        let vectors = cfg!(all(target_arch = "wasm32", target_feature = "simd128"));
        !vectors && matches!(self.0, Machine::Scalar)
    }

    fn find(name: &str) -> Option<Self> {
        let level = Level::new();
        let machine = match name {
            "scalar" => Machine::Scalar,
            "portable" => Machine::Portable,
            #[cfg(target_arch = "x86_64")]
            "sse2" => Machine::Sse2(level.as_sse2()?),
            #[cfg(target_arch = "x86_64")]
            "avx2" => Machine::Avx2(level.as_avx2()?),
            #[cfg(target_arch = "x86_64")]
            // Until version 0.2 there was a kernel `avx512-zen`, which differed in the last bits.
            "avx512" | "avx512-zen" => Machine::Avx512(level.as_avx512()?),
            #[cfg(target_arch = "aarch64")]
            "neon" => Machine::Neon(level.as_neon()?),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            "simd128" => Machine::Simd128(level.as_wasm_simd128()?),
            _ => return None,
        };
        Some(Self(machine))
    }

    /// Runs `work` with the vectors of this kernel. The scalar and the portable kernel have plain arrays instead. In a
    /// WebAssembly module with vectors, both have the module's vectors.
    pub fn run(self, work: impl Work) {
        match self.0 {
            Machine::Scalar | Machine::Portable => run_portable(work),
            #[cfg(target_arch = "x86_64")]
            Machine::Sse2(simd) => work.run(simd),
            #[cfg(target_arch = "x86_64")]
            Machine::Avx2(simd) => work.run(simd),
            #[cfg(target_arch = "x86_64")]
            Machine::Avx512(simd) => work.run(simd),
            #[cfg(target_arch = "aarch64")]
            Machine::Neon(simd) => work.run(simd),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Machine::Simd128(simd) => work.run(simd),
        }
    }

    /// Runs `loops`, compiled for the vectors of this kernel. The closure should be `#[inline(always)]`.
    pub fn vectorize(self, loops: impl FnOnce()) {
        self.run(Loops(loops));
    }
}

impl FromStr for Kernel {
    type Err = UnknownKernel;

    fn from_str(name: &str) -> Result<Self, UnknownKernel> {
        Self::find(name).ok_or_else(|| UnknownKernel { name: name.to_owned() })
    }
}

impl PartialEq for Kernel {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}
