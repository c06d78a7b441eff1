import java.io.IOException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;

/**
 * What tests of a shop can look like. No test waits, and none knows of another: they run at the same time, each in a
 * mall of its own. What JUnit would do is at the end.
 */
public final class MallTest {
    private static final String EVENING = "2026-11-21T20:00:00";
    private static final String ANNA = "13800000001";
    private static final String BEN = "13800000002";
    private static final long UNPAID = 1;
    private static final long CANCELLED = 4;
    private static final String CLAIM = "POST /voucher-order/seckill/{voucherId}";

    /** The operator opens a sale that is on all evening; its id. */
    private static Object openSale(Mall mall, int units) throws Exception {
        Map<String, Object> sale = Map.of(
                "shopId", 1, "title", "A coffee for one yuan", "subTitle", "", "rules", "",
                "payValue", 100, "actualValue", 3000, "stock", units,
                "beginTime", "2026-11-21T19:00:00", "endTime", "2026-11-21T23:00:00");
        return mall.call("POST", "/voucher/seckill", mall.operator, sale).good().at("data");
    }

    private static Mall.Answer claim(Mall mall, Object sale, String token) throws IOException {
        return mall.call("POST", "/voucher-order/seckill/" + sale, token, null);
    }

    private static Object stock(Mall mall, Object sale) throws Exception {
        return mall.call("GET", "/sale/" + sale, null, null).good().at("data", "stock");
    }

    private static Object orderStatus(Mall mall, Object order, String token) throws Exception {
        return mall.call("GET", "/voucher-order/" + order, token, null).good().at("data", "status");
    }

    @Test
    void theLastUnitIsSoldOnce(Mall mall) throws Exception {
        Object sale = openSale(mall, 1);
        List<Callable<Mall.Answer>> both = Stream.of(mall.logIn(ANNA), mall.logIn(BEN))
                .map(token -> (Callable<Mall.Answer>) () -> claim(mall, sale, token)).toList();
        ExecutorService atOnce = Executors.newCachedThreadPool();
        var answers = atOnce.invokeAll(both);
        atOnce.shutdown();
        Object one = answers.get(0).get().at("code");
        Object other = answers.get(1).get().at("code");
        assertEquals("SOLD_OUT", one == null ? other : one);
        assertEquals(null, one == null ? one : other);
        assertEquals(0L, stock(mall, sale));
        mall.control("POST", "/idle", null);
        Mall.Answer books = mall.control("GET", "/books", null);
        assertEquals(true, books.at("data", "balances"));
    }

    @Test
    void anUnpaidOrderIsCancelledAfter15Minutes(Mall mall) throws Exception {
        Object sale = openSale(mall, 1);
        String anna = mall.logIn(ANNA);
        String ben = mall.logIn(BEN);
        // The id of an order is larger than 2^53. As text it is exact in every language.
        Object order = claim(mall, sale, anna).at("dataText");
        assertEquals("SOLD_OUT", claim(mall, sale, ben).at("code"));
        mall.advance("14m 59s");
        assertEquals(UNPAID, orderStatus(mall, order, anna));
        mall.advance("1s");
        assertEquals(CANCELLED, orderStatus(mall, order, anna));
        claim(mall, sale, ben).good();
    }

    @Test
    void aSessionEndsAfter30MinutesUnused(Mall mall) throws Exception {
        String anna = mall.logIn(ANNA);
        mall.advance("29m");
        mall.call("GET", "/user/me", anna, null).good();
        mall.advance("30m");
        Mall.Answer answer = mall.call("GET", "/user/me", anna, null);
        assertEquals(401, answer.status());
        assertEquals("NOT_LOGGED_IN", answer.at("code"));
    }

    @Test
    void whoLostTheAnswerAsksAgainAndHasBoughtOnce(Mall mall) throws Exception {
        Object sale = openSale(mall, 5);
        String anna = mall.logIn(ANNA);
        mall.control("POST", "/faults", Map.of("endpoint", CLAIM, "does", "loseAnswer", "times", 1));
        assertThrows(IOException.class, () -> claim(mall, sale, anna));
        Mall.Answer again = claim(mall, sale, anna);
        assertEquals("ALREADY_BOUGHT", again.at("code"));
        var orders = (List<?>) mall.call("GET", "/voucher-order/of/me", anna, null).good().at("data");
        assertEquals(1, orders.size());
        assertEquals(again.at("dataText"), ((Map<?, ?>) orders.get(0)).get("id"));
        assertEquals(4L, stock(mall, sale));
    }

    @Test
    void troubleWithTheStorageIsAnswered503AndPasses(Mall mall) throws Exception {
        Object sale = openSale(mall, 5);
        String anna = mall.logIn(ANNA);
        mall.control("POST", "/faults", Map.of("port", "sales.claim", "does", "error", "times", 2));
        for (int status : new int[] {503, 503, 200}) {
            assertEquals(status, claim(mall, sale, anna).status());
        }
        assertEquals(4L, stock(mall, sale));
    }

    @Test
    void aRestoreBringsBackWhatWasSold(Mall mall) throws Exception {
        Object sale = openSale(mall, 1);
        String anna = mall.logIn(ANNA);
        String ben = mall.logIn(BEN);
        mall.control("POST", "/snapshot", Map.of("name", "before the rush"));
        claim(mall, sale, anna).good();
        mall.control("POST", "/restore", Map.of("name", "before the rush"));
        assertEquals(1L, stock(mall, sale));
        claim(mall, sale, ben).good();
    }

    @Test
    void aResetLeadsBackToTheStart(Mall mall) throws Exception {
        Object sale = openSale(mall, 1);
        mall.control("POST", "/faults", Map.of("endpoint", CLAIM, "does", "error"));
        mall.advance("2d");
        mall.control("POST", "/reset", null);
        assertEquals(EVENING, mall.control("GET", "/clock", null).at("data", "now"));
        assertEquals("UNKNOWN_SALE", mall.call("GET", "/sale/" + sale, null, null).at("code"));
        assertEquals(List.of(), mall.control("GET", "/faults", null).at("data"));
    }

    @Test
    void mallsMadeOfOneSnapshotShareNothing(Mall mall) throws Exception {
        Object sale = openSale(mall, 1);
        mall.control("POST", "/snapshot", Map.of("name", "on sale"));
        try (Mall one = mall.another(Map.of("from", "on sale")); Mall other = mall.another(Map.of("from", "on sale"))) {
            for (Mall each : List.of(mall, one, other)) claim(each, sale, each.logIn(ANNA)).good();
            one.advance("15m");
            assertEquals(List.of(0L, 1L, 0L), List.of(stock(mall, sale), stock(one, sale), stock(other, sale)));
            assertEquals(EVENING, other.control("GET", "/clock", null).at("data", "now"));
        }
    }

    @Test
    void aControlThatCannotBeThrows(Mall mall) throws Exception {
        Map<String, String> fault = Map.of("endpoint", "POST /no-such-call", "does", "error");
        var refusal = assertThrows(IllegalStateException.class, () -> mall.control("POST", "/faults", fault));
        assertEquals(true, refusal.getMessage().contains("BAD_REQUEST"));
    }

    @Test
    void aStartThatFailsSaysWhy(Mall mall) {
        var failure = assertThrows(IOException.class, () -> Mall.start("--data", "nowhere.sql"));
        assertEquals(true, failure.getMessage().contains("nowhere.sql"));
    }

    /** One process, four threads, and for each test a mall whose clock stands until the test moves it. */
    public static void main(String[] arguments) throws Exception {
        List<Callable<Boolean>> tests;
        long failed = 0;
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try (Mall first = Mall.start()) {
            tests = Stream.of(MallTest.class.getDeclaredMethods()).filter(each -> each.isAnnotationPresent(Test.class))
                    .map(each -> (Callable<Boolean>) () -> passes(each, first)).toList();
            for (var passed : threads.invokeAll(tests)) failed += passed.get() ? 0 : 1;
        } finally {
            threads.shutdown();
        }
        System.out.printf("%d tests passed, %d failed%n", tests.size() - failed, failed);
        System.exit(failed == 0 ? 0 : 1);
    }

    private static boolean passes(Method test, Mall first) throws Exception {
        try (Mall mall = first.another(Map.of("start", EVENING, "frozen", true))) {
            test.invoke(new MallTest(), mall);
            System.out.println("passed  " + test.getName());
            return true;
        } catch (InvocationTargetException failure) {
            System.out.println("FAILED  " + test.getName());
            failure.getCause().printStackTrace(System.out);
            return false;
        }
    }

    @Retention(RetentionPolicy.RUNTIME)
    private @interface Test {}

    private interface Work {
        void run() throws Exception;
    }

    private static void assertEquals(Object expected, Object found) {
        if (!Objects.equals(expected, found)) throw new AssertionError("expected " + expected + ", found " + found);
    }

    private static <T extends Exception> T assertThrows(Class<T> expected, Work work) {
        try {
            work.run();
        } catch (Exception thrown) {
            if (expected.isInstance(thrown)) return expected.cast(thrown);
            throw new AssertionError("expected " + expected, thrown);
        }
        throw new AssertionError("expected " + expected + ", nothing was thrown");
    }
}
