// Package group joins ranks into a group that runs plans together. A group has a rendezvous and a barrier with payloads
// (package store), one arena of device memory a rank that every peer of its host maps, one page of host memory that
// every rank of a host maps, a pool of streams, one sequence of runs for all plans, and an abort that turns hangs into
// errors: a rank that is cancelled, out of time or notified of a dead peer releases every blocked stream of the group,
// and each rank learns who waited for whom.
package group
