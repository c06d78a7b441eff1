import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** As much JSON as a test needs. Objects are maps, arrays lists, whole numbers Long, others Double. */
final class Json {
    private static final Pattern TOKEN = Pattern.compile(
            "\\G\\s*([{}\\[\\]:,]|\"[^\"\\\\]*+(?:\\\\.[^\"\\\\]*+)*+\"|[-+.\\w]+|$)\\s*");
    private static final Pattern ESCAPE = Pattern.compile("\\\\(u[0-9a-fA-F]{4}|.)");

    private final String text;
    private final Matcher tokens;

    private Json(String text) {
        this.text = text;
        tokens = TOKEN.matcher(text);
    }

    static Object read(String text) {
        Json json = new Json(text);
        Object value = json.value(json.next());
        json.check(json.next().isEmpty());
        return value;
    }

    static String write(Object value) {
        if (value instanceof Map<?, ?> map) {
            return map.entrySet().stream().map(each -> write(each.getKey()) + ":" + write(each.getValue()))
                    .collect(Collectors.joining(",", "{", "}"));
        }
        return value instanceof String string ? quoted(string) : String.valueOf(value);
    }

    private static String quoted(String string) {
        StringBuilder out = new StringBuilder();
        for (char c : string.toCharArray()) {
            out.append(c < ' ' || c == '"' || c == '\\' ? String.format("\\u%04x", (int) c) : c);
        }
        return "\"" + out + "\"";
    }

    private Object value(String token) {
        switch (token) {
            case "{": return object();
            case "[": return array();
            case "true": return true;
            case "false": return false;
            case "null": return null;
            default:
                if (token.startsWith("\"")) return unquoted(token);
                return token.matches("-?\\d+") ? (Object) Long.valueOf(token) : Double.valueOf(token);
        }
    }

    private Map<String, Object> object() {
        Map<String, Object> map = new LinkedHashMap<>();
        for (String token = next(); !token.equals("}"); token = next()) {
            if (!map.isEmpty()) {
                check(token.equals(","));
                token = next();
            }
            String name = (String) value(token);
            check(next().equals(":"));
            map.put(name, value(next()));
        }
        return map;
    }

    private List<Object> array() {
        List<Object> list = new ArrayList<>();
        for (String token = next(); !token.equals("]"); token = next()) {
            if (!list.isEmpty()) {
                check(token.equals(","));
                token = next();
            }
            list.add(value(token));
        }
        return list;
    }

    private String next() {
        check(tokens.find());
        return tokens.group(1);
    }

    private static String unquoted(String token) {
        return ESCAPE.matcher(token.substring(1, token.length() - 1)).replaceAll(Json::unescaped);
    }

    private static String unescaped(MatchResult escape) {
        String sign = escape.group(1);
        int known = "bfnrt".indexOf(sign.charAt(0));
        char c = known < 0 ? sign.charAt(0) : "\b\f\n\r\t".charAt(known);
        if (sign.length() > 1) c = (char) Integer.parseInt(sign.substring(1), 16);
        return Matcher.quoteReplacement(String.valueOf(c));
    }

    private void check(boolean isRight) {
        if (!isRight) throw new IllegalArgumentException("this is no JSON: " + text);
    }
}
