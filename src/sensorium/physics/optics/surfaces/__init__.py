"""What surfaces and boundaries do with light."""
