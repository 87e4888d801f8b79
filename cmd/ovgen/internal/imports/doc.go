// Package imports has the rules of imports between the parts of the project, and the test that checks them.
package imports
