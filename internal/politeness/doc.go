// Package politeness scores programs that read feeds: it serves feeds to probe them
// with, watches how each is asked for, and says which manners were kept.
package politeness
