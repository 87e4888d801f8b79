// Package explore runs the operations of all ranks in every order that the devices allow, over several runs with the
// caller's writes and reads between them, and looks at every state it reaches. A race is two conflicting operations
// that may run in one state; a deadlock is a state in which nothing may run though work is left; a lost post is a post
// to a word that still holds one. It is the second opinion on package prove. Both read a schedule and the operations'
// declared reads, writes, posts and waits, and share nothing else. Package explore derives no order; it tries all
// orders.
//
// Orders that differ only in independent steps lead to the same states, so from each state only a stubborn set is
// taken: no step outside the set can conflict with a step of the set, or enable one that does, before a step of the set
// is taken. If some order makes two conflicting steps possible together, it still does so after any step that is
// independent of both and of that order; so the reduced search meets every race, and every deadlock, that the full one
// meets. System.Full leaves the reduction out; the tests compare the two searches.
//
// Contents are numbers of a prime field, drawn at random for each element of an input and each run, and operations
// compute with them: exactly, in any order and any division into chunks. The expected result is computed from the
// definition of the schedule's operation and the placements of its tensors. Where the schedule promises the order of
// ranks, a sum is a polynomial of its terms instead. A function of each element, such as GELU, is uninterpreted.
package explore
