// Package sim is a driver in software: devices whose streams run the work of the runtime in every order that CUDA's
// rules allow, and that refuse all calls that CUDA refuses. It has two modes.
//
// Seeded mode: NewWorld makes devices for all ranks of one process. One scheduler picks the next moment of an operation
// by seed, among all that may go on, so a run can be repeated; vector clocks find two accesses that nothing orders,
// also when they did not meet (World.Races). In a testing/synctest bubble the clock is virtual and moves only when
// every rank is blocked.
//
// Process mode: the backend "sim" (driver.Register) opens the devices of one process, for launch, IPC and killed peers.
// Memory is shared through memfds, or between the devices of the process by peer access. It runs in real time: it has
// no seed, can't be repeated and reports no race, since it may see one rank only.
//
// A host that has seen an access complete is taken to tell all other hosts: the messages between ranks are not seen
// here. So a race is found unless a host call, such as StreamSynchronize, happened to lie between its two sides; other
// seeds put it elsewhere.
//
// New memory holds bytes that the seed picks, none of them 0. Memory of more than 4 MiB holds them at its ends alone.
//
// The simulator does not model caches, memory ordering within a kernel, or the number of multiprocessors or copy
// engines.
//
// Devices are made of Linux's memfds; on another system opening one fails with driver.ErrUnavailable. A build without
// cgo has no kernels: ModuleLoadData fails so, and programs that launch none run as ever.
//
// Kernels run a thread at a time, by the engine in engine_linux.cc. Package host, which is generated beside the
// packages of the kernels, compiles them for the host (Compiled).
package sim
