// Package cnws is the change notification web service of 8 April 2003.
package cnws
