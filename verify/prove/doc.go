// Package prove shows, before a line of a schedule is emitted, that its host program is
// free of deadlocks and races and computes the right result, on any number of runs, eager,
// replayed or mixed; or it returns a *Counterexample that a person can read. It reads
// the operations of all ranks (verify/ops), unrolled from the program or recorded from
// the emitted package. docs/proof.md says at length why that suffices.
//
// # Model
//
// An edge a -> b says that a has ended, and its writes are visible, when b starts.
// Nothing else orders anything: not the host's order of calls across streams, not the
// stream's order across runs, not how long things take.
//
//	operation        ordered by                            memory
//	After            the rank's Done of the run before,    nothing
//	                 and its caller's work in between
//	Record, wait     stream order; a wait comes after      nothing
//	                 the last record enqueued before it
//	Signal, batch    stream order; items in their order    its words; a wait is ended by one
//	                                                       post; the stream's step word: written
//	Signal, kernel   stream order; a thread for each       the same
//	                 word: wait, then reset; the step
//	                 word when all threads are done
//	Copy, Sum        stream order                          sources read, destination written
//	Product          stream order                          A, B, Bias read, C and the stream's
//	                                                       workspace written; C read as well
//	                                                       where it accumulates
//	fused kernel     stream order; its waits, its work     as its parts; the stream's count
//	                 and its posts, in that order          word, until its work is done: written
//	fused by blocks  the same for each block, blocks       its part of each use, words of
//	                 in any order to each other            its own; no count word
//	packets          the same for each packet, whose flag  the same; each packet that was read
//	                 is its word                           is taken back to 0: written
//	Collective:      stream order                          own sources read, own destination
//	begin, end       end: every rank's begin               written, from begin to end
//	Done             stream order of main                  nothing
//	caller, other    after the rank's Done, before         everything that is the rank's, its
//	plans            its next After                        words left out: written
//	New and Bind,    all ranks meet; before all After,     everything of every rank: written;
//	Close            after all Done                        words zeroed
//
// # Assumptions and their grounds
//
//   - A stream runs its operations in order, and events order streams (CUDA programming
//     guide, Streams and Events).
//   - A capture turns exactly these orders into a graph's edges; launches of one
//     executable graph do not overlap (cudaGraphLaunch).
//   - The items of one cuStreamBatchMemOp run in order, in a captured node too; and a write
//     by it comes after all earlier work of its stream, also as a peer sees it
//     (CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER is never set; tried across processes on
//     H200, with replays and eager runs mixed).
//   - Emitted kernels wait with ld.acquire.sys and post with st.release.sys behind a
//     system-wide fence (templates/device/blocks.h).
//   - Aligned 32-bit words are written whole; so are packets, and 64 bits beside one.
//   - NCCL's collectives of one communicator need all of its ranks, each with the same call;
//     one has ended on a rank when that rank has its result. An exchange needs the rank that
//     it gets from; it may or may not wait for the rank that it sends to (collective.go).
//   - Loads, allocations, opens and instantiation may synchronise the device, and lie in
//     New, Bind and Close only, where no run is in flight (package plan drains first).
//
// # Properties
//
// Each has a file of its name: shapes, events, bounds, abort, signals, blocks, rest, remote,
// allocations, bracket, agreement (in collective.go), matching, deadlock, reset, window, race,
// contents, serial; and warn, which refuses nothing. Their order matters: each may rest on
// earlier ones.
//
// # Lemmas
//
// Matching. The runs are followed once, in one order; it pairs waits with posts. Shown of
// the resulting graph: each word's reset comes before the word's next post and before the
// next wait for it may begin. Then in every execution each wait is ended by the post it is
// paired with. Suppose not, and take the first wait in time that another post ended. Either
// an earlier post wrote the 1 that it saw: but that post's own wait had ended and been
// reset before this wait began. Or a later post wrote it: but that post comes after this
// wait's reset. Neither is possible.
//
// Deadlock. The graph with these pairs was followed to its end, so it has no circle. In any
// execution take the first operation, in the graph's order, that has not happened. All
// operations before it have happened, so it may start; if it is a wait, its post has
// happened and no reset since.
//
// Blocks. A kernel whose blocks signal each for itself stands in the list once, for one block.
// Any path of the graph can be followed with the operations of any one block in their place,
// and any circle over several blocks would be one over the list's own operations. By blocks,
// only blocks of one number conflict with each other, and they have the list's order.
//
// Runs. Buffers have period P = 1: a run uses the same bytes as the one before; where packets
// land, of two halves in turn, P = 2. By bracket all of a rank's operations in a run lie between
// After and Done. Two conflicting operations x of run i and y of run j > i: y has a twin in run
// i+P. x comes before the twin, as shown for P + 1 neighbouring runs, and the twin comes before
// y by the sequence of its rank's runs. So P + 1 runs show it for all, and fewer use no half twice.
//
// Modes. By bracket, the order that streams carry from run to run in eager mode is in the
// graph already, so eager, replayed and mixed runs have one graph. They differ only where a
// device does one operation at a time: serial checks both forms.
//
// Plans. Window says that whoever uses a rank's memory does so between that rank's After
// and Done; words are shared by no two plans and 0 between runs. So the plans of a group,
// in one sequence, are as safe together as each is alone, and may share staging. Memory that
// packets land in is a plan's own, as words are.
//
// Shapes. Indices, bounds, peers and branches mention no extents (checked), and every use
// is whole chunks: so, in units of chunks, all shapes have the same operations and the same
// overlaps. Where chunks are uneven that holds for all counts, as offsets are sums of the
// counts before; some samples of counts are followed as well. Where ranks cut a result by
// elements and not by rows, only copies and sums see a part of it (flat).
//
// Contents. A chunk is used as one, so all its elements have one history: an expression
// over chunks of the inputs. Outputs are compared with the sums of terms that the
// schedule's operations and placements prescribe.
package prove
