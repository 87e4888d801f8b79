// Package explore runs the operations of all ranks in every order that the devices
// allow, over several runs with the caller's writes and reads between them, and looks
// at every state it reaches. A race is two conflicting operations that may run in one
// state; a deadlock is a state in which nothing may run though work is left; a lost
// post is a post to a word that still holds one. It is the second opinion on package
// prove and shares no code and no idea with it: it never asks what is ordered, it tries.
//
// Orders that differ only in independent steps lead to the same states, so from each
// state only a stubborn set is taken: steps such that nothing outside the set can
// conflict with one of them, or make one possible that does, before one of them is
// taken. If in some order two conflicting steps get to be possible together, then they
// still do after any step that is independent of both and of that order; so the
// reduced search meets every race, and every deadlock, that the full one meets.
// System.Full leaves the reduction out; the tests hold the two against each other.
//
// Contents are numbers of a prime field, drawn at random for each element of an input
// and each run, and operations compute with them: exactly, in whatever order and cut.
// What a result has to be is computed from the definition of the schedule's operation
// and the placements of its tensors. A sum that is promised to be made in the order of
// ranks is a polynomial of its terms instead, and a function of each element is like no other.
package explore
