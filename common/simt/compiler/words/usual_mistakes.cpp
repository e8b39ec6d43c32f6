#include "words/usual_mistakes.h"

#include <array>
#include <cctype>
#include <string_view>

#include "text/pattern.h"

namespace simtcc {
namespace {

// Without underscores and in small letters, as it may have been remembered.
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c != '_') text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text;
}

// Is it at most one letter off, added, missing or another one?
bool is_near(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > 1) return false;
  std::size_t at = 0;
  while (at < a.size() && a[at] == b[at]) ++at;
  if (a.size() == b.size()) {
    // two neighbours may have changed places
    if (at + 1 < a.size() && a[at] == b[at + 1] && a[at + 1] == b[at])
      return a.substr(at + 2) == b.substr(at + 2);
    return at == a.size() || a.substr(at + 1) == b.substr(at + 1);
  }
  return a.substr(at) == b.substr(at + 1);
}

std::string qualifier_like(std::string_view name) {
  for (const std::string_view word :
       {"__global__", "__device__", "__shared__", "__constant__", "__host__"}) {
    if (name != word && is_near(plain(name), plain(word))) return std::string(word);
  }
  return {};
}

std::string name_like(std::string_view name) {
  static constexpr std::array<std::string_view, 30> kNames = {"__syncthreads",
                                                              "__syncwarp",
                                                              "__threadfence",
                                                              "__shfl_sync",
                                                              "__shfl_down_sync",
                                                              "__shfl_up_sync",
                                                              "__shfl_xor_sync",
                                                              "__ballot_sync",
                                                              "atomicAdd",
                                                              "atomicSub",
                                                              "atomicMax",
                                                              "atomicMin",
                                                              "atomicCAS",
                                                              "atomicExch",
                                                              "cudaMalloc",
                                                              "cudaMallocManaged",
                                                              "cudaMemcpy",
                                                              "cudaMemset",
                                                              "cudaFree",
                                                              "cudaDeviceSynchronize",
                                                              "cudaMemcpyHostToDevice",
                                                              "cudaMemcpyDeviceToHost",
                                                              "cudaMemcpyToSymbol",
                                                              "cudaGetLastError",
                                                              "cudaGetErrorString",
                                                              "threadIdx",
                                                              "blockIdx",
                                                              "blockDim",
                                                              "gridDim",
                                                              "cudaEventElapsedTime"};
  for (const std::string_view known : kNames) {
    if (name != known && plain(name) == plain(known)) return std::string(known);
  }
  for (const std::string_view known : kNames) {
    if (name != known && is_near(plain(name), plain(known))) return std::string(known);
  }
  return {};
}

// Of a message about names that do not exist.
std::optional<std::string> misspelt(const std::string& said) {
  Match match;
  static const Pattern type(R"('(\w+)' does not name a type.*)");
  if (type.matches(said, match)) {
    const std::string word = qualifier_like(match[1]);
    if (word.empty()) return {};
    return "simt: '" + match[1] + "' is no word of CUDA: write '" + word +
           "', with two underscores on both sides";
  }
  static const Pattern absent(
      R"('(\w+)' (?:in namespace '(cub|thrust)' does not name|is not a member of '(cub|thrust)').*)");
  if (absent.matches(said, match)) {
    return "simt: " + match[2] + match[3] + "::" + match[1] +
           " is not simulated: do its work without the library, or run the program on a GPU";
  }
  static const Pattern undeclared(R"('(\w+)' was not declared in this scope.*)");
  if (undeclared.matches(said, match)) {
    std::string word = name_like(match[1]);
    if (word.empty()) word = qualifier_like(match[1]);
    if (word.empty()) return {};
    return "simt: '" + match[1] + "' is not declared: in CUDA it is called '" + word + "'";
  }
  return {};
}

std::optional<std::string> atomics(const std::string& said, const std::string& line) {
  Match match, call;
  static const Pattern overloads(
      R"(no matching function for call to '(atomic\w+)\((?:const )?([\w ]+)\*&?, .*\)')");
  if (overloads.matches(said, match)) {
    const std::string name = match[1], type = match[2];
    const bool compares = name == "atomicMax" || name == "atomicMin";
    if (compares && (type == "float" || type == "double")) {
      return "simt: " + name + "() takes no '" + type +
             "', only int, unsigned, long long and unsigned long long: write a loop with "
             "atomicCAS(), or compare values that are not negative as " +
             (type == "float" ? "ints, by __float_as_int()"
                              : "long longs, by __double_as_longlong()");
    }
    if (type == "unsigned long" || type == "long unsigned int" || type == "long" ||
        type == "long int") {
      return "simt: " + name + "() takes no '" + type +
             "': make it an 'unsigned long long', or cast the address: (unsigned long long*)";
    }
    if (type.find("char") != std::string::npos || type.find("short") != std::string::npos ||
        type == "bool") {
      return "simt: " + name + "() takes no '" + type +
             "': make it an 'int' or an 'unsigned', the smallest that an atomic operation works on";
    }
    return {};
  }
  static const Pattern named(
      R"(\b(atomic(?:Add|Sub|Max|Min|Exch|CAS|Inc|Dec|And|Or|Xor)\w*)\s*\()");
  static const Pattern conversion(R"(invalid conversion from '([\w ]+\*?)' to '([\w ]+)\*' .*)");
  if (!conversion.matches(said, match) || !named.is_in(line, call)) return {};
  const std::string from = match[1];
  if (from.back() != '*') {
    return "simt: " + call[1] +
           "() takes the address of what it changes: put '&' before a variable or an element, or "
           "leave the '*' of a pointer away";
  }
  if (from == "long unsigned int*" || from == "long int*") {
    return "simt: " + call[1] + "() takes no '" + from.substr(0, from.size() - 1) +
           "': make it an 'unsigned long long', or cast the address: (unsigned long long*)";
  }
  return {};
}

std::optional<std::string> launches(const std::string& said, const std::vector<std::string>& notes,
                                    const std::string& line) {
  if (line.find("<<<") == std::string::npos) return {};
  Match match;
  static const Pattern stream(R"(invalid conversion from 'cudaStream_t'.*)");
  if (stream.matches(said, match)) {
    return "simt: the third value of a launch counts bytes of shared memory, and the stream is the "
           "fourth: write <<<blocks, threads, 0, stream>>>";
  }
  static const Pattern call(R"(no matching function for call to '(\w+)(?:<.*>)?\(.*\)')");
  if (!call.matches(said, match)) return {};
  const std::string kernel = match[1];
  static const Pattern unknown(R"(\s*couldn't deduce template parameter '(.*)')");
  static const Pattern conflict(
      R"(\s*deduced conflicting types for parameter '(.*)' \('(.*)' and '(.*)'\))");
  static const Pattern variable(R"(\s*'(.*)' is not const)");
  static const Pattern unusable(R"(the value of '(\w+)' is not usable in a constant expression)");
  for (const std::string& note : notes) {
    if (unknown.matches(note, match)) {
      return "simt: the arguments do not say what '" + match[1] + "' is in the template '" +
             kernel + "': write " + kernel + "<...><<<blocks, threads>>>(...) with a value for it";
    }
    if (conflict.matches(note, match)) {
      return "simt: '" + match[1] + "' of the template '" + kernel + "' would be both " + match[2] +
             " and " + match[3] + ": give the arguments one type, or write " + kernel + "<" +
             match[2] + "><<<blocks, threads>>>(...)";
    }
  }
  return {};
}

// What simt/shifts.h has put around it.
std::string plain_operand(std::string type) {
  for (const std::string around :
       {"simt::detail::Object<", "simt::detail::Integer<", "simt::detail::Amount<"}) {
    if (type.starts_with(around))
      type = type.substr(around.size(), type.rfind('>') - around.size());
  }
  return type;
}

// What the language has no word for, or not there.
std::optional<std::string> syntax(const std::string& said, const std::vector<std::string>& notes,
                                  const std::string& line) {
  Match match;
  static const Pattern spaced(R"(\w\s*<\s+<<|\w\s*<<\s+<)");
  if (said.starts_with("expected primary-expression before '<") && spaced.is_in(line)) {
    return "simt: a launch is written '<<<blocks, threads>>>', without blanks between the brackets";
  }
  static const Pattern absent(
      R"(('.*' is not a member of 'std'|'\w+' was not declared in this scope).*)");
  static const Pattern header(R"(\s*'(.*)' is defined in header '(<[\w.]+>)'.*)");
  if (absent.matches(said)) {
    for (const std::string& note : notes) {
      if (header.matches(note, match))
        return "simt: '" + match[1] + "' is not known here: write '#include " + match[2] +
               "' at the top";
    }
  }
  if (said.starts_with("a function-definition is not allowed here")) {
    return "simt: a function cannot be defined within another one: move it out, in front of the "
           "other";
  }
  static const Pattern untyped(R"(ISO C\+\+ forbids declaration of '(\w+)' with no type.*)");
  if (untyped.matches(said, match) && line.find("__global__") != std::string::npos)
    return "simt: a kernel returns void: write '__global__ void " + match[1] + "'";
  static const Pattern member(
      R"('(?:const )?(?:struct )?(?:uint3|dim3)' has no member named '(\w+)'.*)");
  if (member.matches(said, match)) {
    return "simt: '" + match[1] +
           "' is no member: threadIdx, blockIdx, blockDim and gridDim have x, y and z, in small "
           "letters";
  }
  static const Pattern designated(
      R"(designated initializers cannot be used with a non-aggregate type '(\w+[24])')");
  if (designated.matches(said, match)) {
    return "simt: members of a " + match[1] +
           " are given by name only after the name of the type: write '" + match[1] + "{.x = ...}'";
  }
  static const Pattern incomplete(
      R"((?:conversion from|could not convert '.*' from) '([\w ]+)' to (?:non-scalar type )?'(u?(?:char|short|int|long|longlong)[24]|(?:float|double)[24])'(?: requested)?)");
  if (incomplete.matches(said, match)) {
    return "simt: '" + match[1] + "' does not become a " + match[2] + ": write make_" + match[2] +
           "(...) with all of its members";
  }
  static const Pattern shift(
      R"(no match for '(operator[<>]{2}=?)' in '.*simt::.*' \(operand types are '(.*)' and '(.*)'\))");
  if (shift.matches(said, match)) {
    return "no match for '" + match[1] + "' (operand types are '" + plain_operand(match[2]) +
           "' and '" + plain_operand(match[3]) + "')";
  }
  static const Pattern operation(
      R"(no match for 'operator(.{1,3})' (?:in '.*' )?\(operand types are '(?:const )?(.*)' and '(?:const )?(.*)'\))");
  static const Pattern vector(R"((?:u?(?:char|short|int|long|longlong)|float|double)[1-4])");
  if (operation.matches(said, match)) {
    const std::string left = match[2], right = match[3];
    const bool is_left = vector.matches(left);
    if (is_left || vector.matches(right)) {
      return "simt: CUDA has no '" + match[1] + "' of " + left + " and " + right +
             ": compute member by member, or write a __host__ __device__ operator" + match[1] +
             " of your own";
    }
  }
  if (said.starts_with("redefinition of ") && said.find("one_type_of(") != std::string::npos) {
    static const Pattern array(R"((\w+)\s*\[\s*\])");
    const std::string name = array.is_in(line, match) ? match[1] : "array";
    return "simt: '" + name +
           "' has had another type before: extern __shared__ arrays of one name are one array, "
           "also in a template. Declare 'extern __shared__ __align__(16) unsigned char bytes[];' "
           "and let 'T* " +
           name + " = reinterpret_cast<T*>(bytes);' follow";
  }
  return {};
}

}  // namespace

std::optional<std::string> beginners_mistake(const std::string& said,
                                             const std::vector<std::string>& notes,
                                             const std::string& line) {
  Match match;
  static const Pattern allocation(
      R"(no matching function for call to '(cudaMalloc\w*|cudaHostAlloc)\([\w: ]+\*&?, .*\)')");
  if (allocation.matches(said, match)) {
    return "simt: " + match[1] +
           "() writes the address into a pointer, so it takes the address of that: put '&' before "
           "the pointer";
  }
  static const Pattern size(R"(storage size of '(\w+)' isn't constant)");
  if (size.matches(said, match) && line.find("__shared__") != std::string::npos) {
    const std::string name = match[1];
    return "simt: the size of a __shared__ array must be known when the program is compiled: write "
           "a constant, or 'extern __shared__ ... " +
           name + "[];' and the number of bytes as the launch's third value";
  }
  static const Pattern unusable(R"(the value of '(\w+)' is not usable in a constant expression)");
  if (unusable.matches(said, match) && line.find("<<<") != std::string::npos) {
    return "simt: '" + match[1] +
           "' is known only when the program runs, and the kernel's template needs a constant: "
           "write 'constexpr' before its declaration, or take it as an argument of the kernel";
  }
  static const Pattern read_only(
      R"((?:assignment|increment|decrement) of read-only location '\*\(?(\w+) \+ .*')");
  if (read_only.matches(said, match)) {
    return "simt: '" + match[1] +
           "' points to values that are const, so nothing can be written there: take 'const' away "
           "from its declaration, or write to another array";
  }
  if (auto better = misspelt(said)) return better;
  if (auto better = syntax(said, notes, line)) return better;
  if (auto better = atomics(said, line)) return better;
  return launches(said, notes, line);
}

}  // namespace simtcc
