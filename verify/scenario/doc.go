// Package scenario holds tests of how the runtime behaves around generated
// packages: on the caller's streams, when bound again, in many plans and groups,
// and when a run must end by force. A scenario is one function that every rank
// runs. Its tests run it in the seeded simulator, where a seed picks the order of
// all that happens; in processes, the test binary being its own ranks; with all
// ranks in one process; and on GPUs, where -processes leaves the one process out,
// and -oneprocess the processes:
//
//	go test -c -o scenario.test ./verify/scenario
//	./scenario.test -test.run TestProcesses -driver cuda -ranks 4 -processes
package scenario
