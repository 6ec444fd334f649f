"""ROS 2 messages without ROS: what each kind of reading becomes, one a file."""
