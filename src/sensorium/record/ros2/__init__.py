"""ROS 2 messages without ROS: the messages of each kind of reading, one a file."""
