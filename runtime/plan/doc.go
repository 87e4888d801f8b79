// Package plan is what every generated package shares. A Builder takes the
// buffers, semaphores, streams, products and kernels of a host program for one
// shape and makes a Plan of them on all ranks of a group; the program's issue
// function enqueues one run by the calls of a Queue, one call for each node. The
// plan checks that the ranks agree, exchanges memory handles when it is bound to
// new memory that peers use, keeps graphs of its own to replay, and tells the group enough to
// say where it stood when it was aborted.
//
// Three readers use it. Users of a generated package meet its errors (DisagreementError,
// RankError, RanksError, UnknownChoiceError, ErrBusy and the others that are variables)
// and, with package tuned, Tuning, ReadTuning, ParseTuning, Tuned, Choice and Measured;
// all else they call is a method of the generated Plan. Generated packages use Program,
// Build, Builder, Queue, Refuse, Candidate, Tune and what these hand out; what they need
// changes with the generator that writes them. Verifiers drive a Runner and look at
// Plan.Layout.
package plan
