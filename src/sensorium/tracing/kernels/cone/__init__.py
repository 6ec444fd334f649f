"""Objects of a scene searched for their nearest points in the cone of a sensor."""
