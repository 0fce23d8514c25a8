-- When the test feed was changed by hand, so that all nodes serve the same bytes.
CREATE TABLE testfeed (
	at BIGINT NOT NULL,
	PRIMARY KEY (at)
);
