// Package driver is the narrow waist of the runtime: one interface of the CUDA driver calls that ovgen uses, under
// CUDA's names, and of matrix products. A Driver is one device with its context, as one rank sees it. Package cuda
// implements it over libcuda and cuBLASLt, package sim in software; decorators that record, delay or fail calls live in
// verify/. A call may be made from any thread: implementations set the context themselves.
package driver
