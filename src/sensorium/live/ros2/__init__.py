"""ROS 2 without ROS: topics, commands and services over Zenoh or DDS."""
