// Package served has, for its test alone, schedules as people who build training and serving systems declare them, by
// kind: layers, collectives, choices of ways, and mistakes. The test holds each against its outcome today:
// lowered and proven, refused at the field that is to blame, or without words in the vocabulary.
package served
