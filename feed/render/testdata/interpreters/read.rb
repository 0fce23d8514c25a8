# Prints what Ruby reads in each file of a folder, one JSON object a line.
require 'json'

Dir.glob(ARGV[0] + '/*.rb').each do |file|
  data = eval(File.read(file), TOPLEVEL_BINDING.dup, file)
  raise "#{file} is not the same when it is read as bytes" if eval(File.binread(file)) != data
  puts JSON.generate({ 'file' => File.basename(file), 'data' => data }, max_nesting: 0, ascii_only: true)
end
