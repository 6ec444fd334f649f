"""glTF files: container, arrays, nodes, primitives, materials and images, one a file; `reading` joins them."""
