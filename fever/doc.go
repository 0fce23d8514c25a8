// Package fever is the programming interface of Fever, a program for reading feeds that
// is not made any more; several reading apps still speak it.
package fever
