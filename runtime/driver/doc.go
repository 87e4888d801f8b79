// Package driver is the narrow waist of the runtime: one interface that holds the CUDA driver calls ovgen uses, under
// their own names, and a matrix product. A Driver is one device with its context, as one rank sees it. Package cuda
// implements it over libcuda and cuBLASLt, package sim in software; decorators that record, delay or fail calls live in
// verify/. A call may be made from any thread: implementations set the context themselves.
package driver
