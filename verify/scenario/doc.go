// Package scenario holds tests of how the runtime behaves around generated packages: on the caller's streams, when
// bound again, in many plans and groups, and when a run must end by force. A scenario is one function that every rank
// runs. Its tests run it in the seeded simulator, where a seed picks the order of all operations; in processes, where
// the test binary starts itself as ranks; with all ranks in one process; and on GPUs, where -processes leaves out the
// runs in one process, and -oneprocess the runs in processes:
//
//	go test -c -o scenario.test ./verify/scenario
//	./scenario.test -test.run TestProcesses -driver cuda -ranks 4 -processes
package scenario
