"""The application: command line, scenarios, gallery, controllers."""
