<?php
// Prints what PHP reads in each file of a folder, one JSON object a line.
foreach (glob($argv[1] . '/*.{php,phps}', GLOB_BRACE) as $file) {
    if (str_ends_with($file, '.php')) {
        ob_start();
        $data = include $file;
        if (ob_get_clean() !== '') {
            throw new Exception("$file prints something");
        }
    } else {
        $data = unserialize(file_get_contents($file), ['allowed_classes' => false]);
        if (serialize($data) !== file_get_contents($file)) {
            throw new Exception("$file is not what PHP itself writes");
        }
    }
    echo json_encode(['file' => basename($file), 'data' => $data], JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION), "\n";
}
