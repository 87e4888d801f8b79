// Package served has, only for its test, schedules as people who build training and serving systems declare them, by
// kind: layers, collectives, choices of ways, and mistakes. The test checks that each has its outcome of today: lowered
// and proven, refused at the field that is to blame, or without words in the vocabulary.
package served
