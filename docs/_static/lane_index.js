// An index of `lane`, as C has it: + - * / % & ^ | << >>, parentheses, lane or threadIdx.x (or tid, t, i), numbers as 12 or 0x1f. Of a whole
// access, x[3 * lane], it is what stands between the brackets.
// warpIndex(text) returns the indices of the 32 lanes, or throws an Error whose message is the line for the reader. Nothing is
// executed but what is read here.
"use strict";
window.warpIndex = (() => {
  const LANES = 32, LONGEST = 80, LARGEST = 2 ** 20;
  const LEVELS = [["|"], ["^"], ["&"], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]];
  const TOKEN = /\s*(0x[0-9a-f]+|\d+|[a-z_][\w.]*|<<|>>|[-+*/%&^|()]|\S)/iy;

  const meaning = {
    "|": (a, b) => a | b, "^": (a, b) => a ^ b, "&": (a, b) => a & b, "+": (a, b) => a + b, "-": (a, b) => a - b,
    "*": (a, b) => a * b, "/": (a, b) => Math.trunc(a / b), "%": (a, b) => a % b, "<<": (a, b) => a * 2 ** b, ">>": (a, b) => a >> b,
  };

  function apply(sign, a, b, lane) {
    if ((sign === "/" || sign === "%") && b === 0) throw new Error(`Lane ${lane} divides by 0.`);
    if ((sign === "<<" || sign === ">>") && (b < 0 || b > 31)) throw new Error(`Lane ${lane} shifts by ${b}: legal is 0 to 31.`);
    return within(meaning[sign](a, b), lane);
  }

  function within(value, lane) {
    if (Math.abs(value) > 2 ** 31 - 1) throw new Error(`In lane ${lane} a value is too large for an int.`);
    return value;
  }

  // What stands between the brackets of a whole access.
  const bare = (text) => text.replace(/^\s*[a-z_]\w*\s*\[(.*)\]\s*;?\s*$/i, "$1");

  function parse(text) {
    if (text.length > LONGEST) throw new Error(`An index has at most ${LONGEST} letters here.`);
    text = bare(text);
    const tokens = [];
    TOKEN.lastIndex = 0;
    for (let found; (found = TOKEN.exec(text)); ) tokens.push(found[1]);
    if (!tokens.length) throw new Error("Write an index, as lane * 33.");
    let at = 0;

    function level(which) {
      if (which === LEVELS.length) return single();
      let left = level(which + 1);
      while (LEVELS[which].includes(tokens[at])) {
        const sign = tokens[at++], a = left, b = level(which + 1);
        left = (lane) => apply(sign, a(lane), b(lane), lane);
      }
      return left;
    }

    function single() {
      const token = tokens[at++];
      if (token === undefined) throw new Error("The index ends where a number or lane has to follow.");
      if (/^(lane|threadIdx\.x|tid|t|i)$/.test(token)) return (lane) => lane;
      if (token === "-") {
        const value = single();
        return (lane) => -value(lane);
      }
      if (token === "(") {
        const inside = level(0);
        if (tokens[at++] !== ")") throw new Error("A parenthesis is open: a ) is missing.");
        return inside;
      }
      if (/^0\d/.test(token)) throw new Error(`${token} would be octal in C: write it without the 0 in front.`);
      if (/^\d/.test(token)) return (lane) => within(Number(token), lane);
      throw new Error(/^[-+*/%&^|)<>]/.test(token) ? `A number or lane has to stand before ${token}.`
        : `'${token}' is not known here: an index is made of lane (or threadIdx.x, tid, t, i), numbers, + - * / % & ^ | << >> and ( ).`);
    }

    const whole = level(0);
    if (at < tokens.length) {
      if (/[[\]]/.test(tokens[at])) throw new Error("An index stands in one pair of brackets; two are of a tile: choose 'by tile'.");
      throw new Error(tokens[at] === ")" ? "A ) has no ( before it." : `Before ${tokens[at]} an operator is missing, as in lane * 2.`);
    }
    return whole;
  }

  // `most`: the largest index that is legal, and of what.
  const warpIndex = (text, most = LARGEST, what = "the figure") => {
    const index = parse(text);
    return Array.from({ length: LANES }, (_, lane) => {
      const value = index(lane);
      if (value < 0 || value > most) throw new Error(`Lane ${lane} has index ${value}: ${what} goes from 0 to ${most.toLocaleString("en")}.`);
      return value + 0;  // no -0
    });
  };
  return Object.assign(warpIndex, { bare });
})();
