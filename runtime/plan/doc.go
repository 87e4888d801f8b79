// Package plan is the common part of all generated packages. A Builder takes the buffers, semaphores, streams, products
// and kernels of a host program for one shape and makes a Plan of them on all ranks of a group. The program's issue
// function enqueues one run by the calls of a Queue, one call for each node. The plan checks that the ranks agree,
// exchanges memory handles when it is bound to new memory that peers use, and keeps graphs to replay. It gives the
// group its steps, so that the error of an abort names the step at which a rank waited.
//
// Three kinds of readers use it. Users of a generated package meet its errors (DisagreementError, RankError,
// RanksError, ErrBusy and the other variables); everything else that they call is a method of the generated Plan.
// Generated packages use Program, Make, Builder, Queue and their results; this part changes with the generator.
// Verifiers drive a Runner and read Plan.Layout; package dump reads Components and List. Package tuning chooses plans.
package plan
